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
  members: 'Members of your garden',
  membersAbout:
    'Whom you let in sees your plants, and does what you allow. You can end that at any time.',
  joinedGardens: 'Gardens of others',
  leave: 'Leave',
  invite: 'Invite somebody',
  makeLink: 'Make a link for a sitter without an account',
  changeMember: 'Change',
  memberName: 'What you call this person',
  memberRole: 'What they may do',
  memberUntil: 'Until the end of this day (leave it empty for no end)',
  linkUntil: 'Until the end of this day, at most 90 days ahead',
  untilDay: 'until',
  neverSeen: 'never here yet',
  lastSeen: 'last here',
  notJoined: 'invited, has not joined yet',
  hasLeft: 'left on',
  byLink: 'Sitter with a link',
  newInvitation:
    'Send this link, or its code, to the person. It lets one person in, within 7 days, and is not shown again.',
  newLink:
    'Send this link to your sitter. Whoever has it can look after your plants until its end. It is not shown again.',
  badMember: 'Give a name of at most 60 characters, and a day that is not too far ahead.',
  roleNames: { viewer: 'Viewer', carer: 'Carer', gardener: 'Gardener' },
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
  members: 'Membres de votre jardin',
  membersAbout:
    'Les personnes que vous invitez voient vos plantes et font ce que vous permettez. Vous pouvez y mettre fin à tout moment.',
  joinedGardens: 'Jardins d’autres personnes',
  leave: 'Quitter',
  invite: 'Inviter quelqu’un',
  makeLink: 'Créer un lien pour un gardien sans compte',
  changeMember: 'Modifier',
  memberName: 'Le nom que vous donnez à cette personne',
  memberRole: 'Ce qu’elle peut faire',
  memberUntil: 'Jusqu’à la fin de ce jour (laissez vide pour ne pas fixer de fin)',
  linkUntil: 'Jusqu’à la fin de ce jour, 90 jours à l’avance au plus',
  untilDay: 'jusqu’au',
  neverSeen: 'jamais venu',
  lastSeen: 'dernière visite le',
  notJoined: 'invitation envoyée, pas encore acceptée',
  hasLeft: 'parti le',
  byLink: 'Gardien avec un lien',
  newInvitation:
    'Envoyez ce lien, ou son code, à la personne. Il ouvre le jardin à une seule personne, dans les 7 jours, et ne sera plus affiché.',
  newLink:
    'Envoyez ce lien à votre gardien. Toute personne qui l’a peut s’occuper de vos plantes jusqu’à sa fin. Il ne sera plus affiché.',
  badMember: 'Donnez un nom de 60 caractères au plus, et un jour qui n’est pas trop lointain.',
  roleNames: { viewer: 'Visiteur', carer: 'Soigneur', gardener: 'Jardinier' },
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
