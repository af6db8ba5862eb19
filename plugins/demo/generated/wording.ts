import type { EventType } from '../../events';
import type { Random } from './random';

type Phrases = readonly [string, ...string[]];

const LOOKED: Phrases = [
  'Two new leaves are unfurling.',
  'The lowest leaf has turned yellow; removed it.',
  'Brown tips on a few leaves, probably dry air from the heating.',
  'Leaves are dusty; wiped them with a damp cloth.',
  'A new shoot comes up beside the old one.',
  'It leans towards the window, so it was turned by a quarter.',
  'Roots show at the drainage holes.',
  'The soil surface was dry and pale.',
  'Found a few fungus gnats; let the top of the soil dry out.',
  'Some scale insects on a stem; rubbed them off with soapy water.',
  'No pests to be seen.',
  'It looks better than last month.',
  'The first flower bud is there.',
  'One leaf was torn when the window was cleaned.',
];

const DID: Phrases = [
  'Moved it away from the radiator.',
  'Moved it a little closer to the window.',
  'Put a tray of pebbles and water underneath.',
  'Cut back one long stem and put the cutting in water.',
  'Left it as it is for now.',
  'Will look again in a week.',
  'Put a sheer curtain between it and the midday sun.',
  'Tied the longest stem to its support.',
  'Emptied the saucer an hour after watering.',
  'Took it under the shower to rinse the leaves.',
];

const DAY: Phrases = [
  'A grey week, and everything grows slowly.',
  'Back from a week away; all plants made it.',
  'Very warm by the window today.',
  'A quiet Sunday with the plants.',
  'First cold night of the season.',
  'A friend asked for a cutting.',
  'Rearranged the shelf so that the small ones get more light.',
  'Long days again, and it shows.',
];

const WATERED: Phrases = [
  'The top few centimetres were dry.',
  'Watered until it ran out below.',
  'A little less than usual.',
  'It was later than it should have been; the leaves drooped.',
  'With rainwater.',
  'From below, for half an hour.',
];

const FERTILIZED: Phrases = [
  'At half strength.',
  'With the watering.',
  'First feed of the season.',
  'The soil was moist before.',
];

const REPOTTED: Phrases = [
  'One size up; the roots had filled the pot.',
  'Same pot, fresh compost, the roots trimmed a little.',
  'Into a pot 2 cm wider, with better drainage.',
];

const SOIL: Phrases = [
  'Replaced the top layer.',
  'The old compost had become hard and shed water.',
  'Mixed in more perlite.',
];

const GROWTH: Phrases = [
  'Measured from the soil to the tip.',
  'The longest stem.',
  'More than expected.',
  'Slow, but steady.',
];

/** How often an event of a type says something, and what. */
const TEXTS: Readonly<Record<EventType, readonly [probability: number, ...parts: Phrases[]]>> = {
  watered: [0.06, WATERED],
  fertilized: [0.2, FERTILIZED],
  repotted: [0.9, REPOTTED],
  soil_change: [0.8, SOIL],
  growth: [0.15, GROWTH],
  note: [1, LOOKED, DID],
  journal: [1, DAY, LOOKED, DID],
};

/** What somebody may have written down with an event. */
export function textFor(type: EventType, random: Random): string | null {
  const [probability, ...kinds] = TEXTS[type];
  if (!random.chance(probability)) return null;
  return kinds.map((parts) => random.pick(parts)).join(' ');
}

// prettier-ignore
export const NICKNAMES: Phrases = [
  'Alfie', 'Beatrix', 'Clementine', 'Dorothy', 'Edgar', 'Frida', 'Gustav', 'Hilda', 'Iggy', 'Juno',
  'Kermit', 'Lola', 'Morris', 'Nora', 'Otto', 'Pearl', 'Quentin', 'Ruth', 'Stella', 'Theo', 'Una',
  'Vincent', 'Wanda', 'Yuki', 'Zelda',
];
