/** The texts about gardens that people share. */
const en = {
  join: 'Join a garden',
  joinButton: 'Join this garden',
  joined: 'The garden is open to you',
  letsIn: 'lets you into the garden',
  letsInOwn: 'lets you into their garden.',
  youMay: 'You may',
  theyCallYou: 'There you are called',
  openUntil: 'It is open to you until',
  noEnd: 'It is open to you until you leave it, or the owner ends it.',
  toGarden: 'Go to the garden',
  invitationGone:
    'There is no such invitation: it was used or withdrawn, or has ended. Ask for a new one.',
  ownInvitation: 'This invitation is your own. Send it to the person whom you want to let in.',
  noRoomInGardens:
    'There is no room: a garden may have 50 members, and you may be in 20 gardens of others.',
  gardenGone: 'This garden is not, or no longer, open to you.',
  linkGone: 'This link does not, or no longer, work. Ask the person who sent it for a new one.',
  roles: {
    viewer: 'look at the plants and their care',
    carer: 'look at the plants, and log their care',
    gardener: 'look at, add, change and delete the plants, and log their care',
  },
};

const fr: typeof en = {
  join: 'Rejoindre un jardin',
  joinButton: 'Rejoindre ce jardin',
  joined: 'Le jardin vous est ouvert',
  letsIn: 'vous ouvre le jardin',
  letsInOwn: 'vous ouvre son jardin.',
  youMay: 'Vous pouvez',
  theyCallYou: 'Vous y portez le nom de',
  openUntil: 'Il vous est ouvert jusqu’au',
  noEnd: 'Il vous est ouvert jusqu’à ce que vous le quittiez, ou que son propriétaire y mette fin.',
  toGarden: 'Aller au jardin',
  invitationGone:
    'Cette invitation n’existe pas : elle a servi, a été retirée ou a expiré. Demandez-en une nouvelle.',
  ownInvitation: 'Cette invitation est la vôtre. Envoyez-la à la personne que vous voulez inviter.',
  noRoomInGardens:
    'Il n’y a plus de place : un jardin peut avoir 50 membres, et vous pouvez rejoindre 20 jardins.',
  gardenGone: 'Ce jardin ne vous est pas, ou plus, ouvert.',
  linkGone:
    'Ce lien ne fonctionne pas, ou plus. Demandez-en un nouveau à la personne qui vous l’a envoyé.',
  roles: {
    viewer: 'voir les plantes et leurs soins',
    carer: 'voir les plantes et noter leurs soins',
    gardener: 'voir, ajouter, modifier et supprimer les plantes, et noter leurs soins',
  },
};

export const GARDEN_TEXTS = { en, fr };
