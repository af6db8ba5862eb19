import type { PlantDocument } from '../../plants';

type Some<Field extends keyof PlantDocument> = NonNullable<PlantDocument[Field]>;

/** What is true of a kind of plant, wherever it stands. */
export interface Species {
  /** What people call it. */
  name: string;
  botanical: string;
  light: Some<'lightRequirement'>;
  humidity: Some<'humidityPreference'>;
  pot: Some<'potType'>;
  soil: string;
  /** Days between waterings in the growing season. */
  wateringDays: number;
  /** Days between feedings in the growing season. */
  feedingDays: number;
  feed: string;
  toxic: boolean;
  mossPole: boolean;
  /** Centimetres in a good month. */
  growth: number;
}

const AROID = 'Coarse mix of peat-free compost, bark and perlite';
const HOUSE = 'Peat-free potting compost with perlite';
const GRITTY = 'Gritty cactus and succulent mix';
const HERB = 'Loam-based compost with added grit';
const FOLIAGE = 'Balanced liquid feed for foliage plants';
const FLOWER = 'High-potash liquid feed for flowering plants';
const CACTUS = 'Cactus feed at half strength';

type Row = [
  name: string,
  botanical: string,
  light: Species['light'],
  humidity: Species['humidity'],
  pot: Species['pot'],
  soil: string,
  wateringDays: number,
  feedingDays: number,
  feed: string,
  growth: number,
  traits: '' | 'toxic' | 'toxic climber',
];

// Toxic is what harms people, cats or dogs that chew it.
// prettier-ignore
const ROWS: readonly [Row, ...Row[]] = [
  ['Swiss cheese plant', 'Monstera deliciosa', 'bright_indirect', 'high', 'plastic', AROID, 8, 28, FOLIAGE, 5, 'toxic climber'],
  ['Monkey mask', 'Monstera adansonii', 'bright_indirect', 'high', 'plastic', AROID, 7, 28, FOLIAGE, 7, 'toxic climber'],
  ['Golden pothos', 'Epipremnum aureum', 'medium', 'medium', 'plastic', HOUSE, 9, 35, FOLIAGE, 9, 'toxic climber'],
  ['Heartleaf philodendron', 'Philodendron hederaceum', 'medium', 'medium', 'plastic', AROID, 8, 30, FOLIAGE, 8, 'toxic climber'],
  ['Snake plant', 'Dracaena trifasciata', 'low', 'low', 'terracotta', GRITTY, 18, 60, CACTUS, 1.5, 'toxic'],
  ['ZZ plant', 'Zamioculcas zamiifolia', 'low', 'low', 'ceramic', HOUSE, 20, 60, FOLIAGE, 2, 'toxic'],
  ['Cast-iron plant', 'Aspidistra elatior', 'low', 'medium', 'ceramic', HOUSE, 12, 45, FOLIAGE, 1, ''],
  ['Peace lily', 'Spathiphyllum wallisii', 'medium', 'high', 'plastic', HOUSE, 6, 42, FOLIAGE, 2.5, 'toxic'],
  ['Spider plant', 'Chlorophytum comosum', 'bright_indirect', 'medium', 'ceramic', HOUSE, 7, 28, FOLIAGE, 3, ''],
  ['Fiddle-leaf fig', 'Ficus lyrata', 'bright_indirect', 'medium', 'ceramic', HOUSE, 9, 28, FOLIAGE, 4, 'toxic'],
  ['Rubber plant', 'Ficus elastica', 'bright_indirect', 'medium', 'plastic', HOUSE, 10, 28, FOLIAGE, 4.5, 'toxic'],
  ['Boston fern', 'Nephrolepis exaltata', 'medium', 'high', 'plastic', HOUSE, 3, 30, FOLIAGE, 3, ''],
  ['Prayer plant', 'Maranta leuconeura', 'medium', 'high', 'plastic', HOUSE, 5, 28, FOLIAGE, 2, ''],
  ['Calathea', 'Goeppertia orbifolia', 'medium', 'high', 'plastic', HOUSE, 5, 28, FOLIAGE, 2.5, ''],
  ['English ivy', 'Hedera helix', 'medium', 'medium', 'plastic', HOUSE, 6, 30, FOLIAGE, 6, 'toxic'],
  ['Chinese money plant', 'Pilea peperomioides', 'bright_indirect', 'medium', 'terracotta', HOUSE, 7, 28, FOLIAGE, 2, ''],
  ['Areca palm', 'Dypsis lutescens', 'bright_indirect', 'high', 'fabric', HOUSE, 6, 30, FOLIAGE, 2.5, ''],
  ['Moth orchid', 'Phalaenopsis amabilis', 'bright_indirect', 'high', 'plastic', 'Coarse orchid bark', 8, 14, 'Orchid feed', 0.8, ''],
  ['African violet', 'Streptocarpus ionanthus', 'bright_indirect', 'medium', 'plastic', HOUSE, 6, 21, FLOWER, 0.6, ''],
  ['Christmas cactus', 'Schlumbergera × buckleyi', 'bright_indirect', 'medium', 'plastic', HOUSE, 9, 28, FLOWER, 1, ''],
  ['String of hearts', 'Ceropegia woodii', 'bright_indirect', 'low', 'terracotta', GRITTY, 12, 45, CACTUS, 5, ''],
  ['Aloe vera', 'Aloe vera', 'full_sun', 'low', 'terracotta', GRITTY, 18, 90, CACTUS, 1, 'toxic'],
  ['Jade plant', 'Crassula ovata', 'full_sun', 'low', 'terracotta', GRITTY, 16, 60, CACTUS, 1, 'toxic'],
  ['Echeveria', 'Echeveria elegans', 'full_sun', 'low', 'terracotta', GRITTY, 14, 60, CACTUS, 0.4, ''],
  ['Bird of paradise', 'Strelitzia reginae', 'full_sun', 'medium', 'plastic', HOUSE, 8, 21, FLOWER, 3, 'toxic'],
  ['Lemon tree', 'Citrus × limon', 'full_sun', 'medium', 'terracotta', HERB, 5, 14, 'Citrus feed', 2.5, 'toxic'],
  ['Rosemary', 'Salvia rosmarinus', 'full_sun', 'low', 'terracotta', HERB, 7, 42, FOLIAGE, 2.5, ''],
  ['Greek basil', 'Ocimum minimum', 'full_sun', 'medium', 'terracotta', HERB, 3, 21, FOLIAGE, 3.5, ''],
];

function fromRow(row: Row): Species {
  const [
    name,
    botanical,
    light,
    humidity,
    pot,
    soil,
    wateringDays,
    feedingDays,
    feed,
    growth,
    traits,
  ] = row;
  const toxic = traits !== '';
  const mossPole = traits === 'toxic climber';
  return {
    name,
    botanical,
    light,
    humidity,
    pot,
    soil,
    wateringDays,
    feedingDays,
    feed,
    growth,
    toxic,
    mossPole,
  };
}

const [first, ...rest] = ROWS;

export const SPECIES: readonly [Species, ...Species[]] = [fromRow(first), ...rest.map(fromRow)];

/** Places in a home, by the light that they have. */
export const PLACES: Readonly<Record<Species['light'], readonly [string, ...string[]]>> = {
  low: ['Hallway', 'Bathroom', 'Bedroom', 'Stairwell'],
  medium: ['Living room', 'Bedroom', 'Kitchen', 'Study', 'Bathroom'],
  bright_indirect: ['Living room', 'Study', 'Conservatory', 'East-facing windowsill'],
  full_sun: ['Balcony', 'Conservatory', 'South-facing windowsill', 'Kitchen windowsill'],
};
