/** Vocabulary of the generated puzzles. Lower case except for people; within a list no entry is part of another. */

const list = (text: string): readonly string[] => text.split(",");

export const WORDS: readonly string[] = list(
  "anchor,apple,arrow,autumn,badge,bamboo,basket,beacon,berry,blanket,bottle,branch,bridge,butter,button,cabin," +
    "camera,candle,canyon,carpet,castle,cellar,cheese,cherry,circle,cloud,copper,corner,cotton,cousin,crystal,curtain," +
    "daisy,desert,diary,dinner,doctor,dragon,eagle,echo,engine,evening,fabric,falcon,feather,fiddle,finger,flower," +
    "forest,fountain,garden,garlic,glacier,guitar,hammer,harbor,harvest,helmet,honey,horizon,island,ivory,jacket," +
    "jungle,kettle,kitten,ladder,lantern,lemon,letter,library,lizard,magnet,marble,market,meadow,mirror,mountain," +
    "museum,needle,nickel,number,oasis,ocean,olive,orchard,oyster,paddle,palace,pebble,pencil,pepper,pillow,planet," +
    "pocket,quarry,queen,rabbit,raven,ribbon,river,rocket,saddle,sailor,salmon,shadow,silver,singer,spider,spring," +
    "stable,summer,temple,thunder,ticket,timber,tunnel,turtle,uncle,valley,velvet,village,violin,wagon,walnut,window," +
    "winter,yellow,zebra,zipper",
);

export const PEOPLE: readonly string[] = list(
  "Alice,Boris,Clara,David,Elena,Felix,Grace,Henry,Irene,Jonas,Karen,Louis,Maria,Nils,Olga,Peter,Ruth,Simon",
);

export const COLORS: readonly string[] = list("red,blue,green,black,white,yellow,purple,orange,brown,grey");

export const THINGS: readonly string[] = list(
  "ball,book,bowl,box,chair,clock,coin,cup,drum,flute,glove,hat,kite,lamp,mug,pen,plate,ring,rope,scarf,shell," +
    "spoon,stamp,sword,table,torch,vase,watch,whistle,wheel",
);
