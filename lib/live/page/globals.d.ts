/** The chart library, loaded before the page's modules. */
declare const uPlot: typeof import("uplot");
