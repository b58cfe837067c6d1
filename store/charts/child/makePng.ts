import regular from '@expo-google-fonts/biz-udpgothic/400Regular/BIZUDPGothic_400Regular.ttf';
import bold from '@expo-google-fonts/biz-udpgothic/700Bold/BIZUDPGothic_700Bold.ttf';
import { initWasm, Resvg } from '@resvg/resvg-wasm';
import program from '@resvg/resvg-wasm/index_bg.wasm';

const family = 'BIZ UDPGothic';
/** Pixels of the picture for one of the chart, as on the screens of today. */
const zoom = 2;

let ready: Promise<void> | null = null;

/** With fonts of our own, which have Japanese glyphs, whatever the machine has. */
export async function makePng(svg: string): Promise<Buffer> {
  ready ??= initWasm(program);
  await ready;
  const picture = new Resvg(svg, {
    background: 'white',
    fitTo: { mode: 'zoom', value: zoom },
    font: {
      fontBuffers: [regular, bold],
      defaultFontFamily: family,
      sansSerifFamily: family,
      serifFamily: family,
      monospaceFamily: family,
      cursiveFamily: family,
      fantasyFamily: family,
    },
  });
  try {
    const rendered = picture.render();
    const png = Buffer.from(rendered.asPng());
    rendered.free();
    return png;
  } finally {
    picture.free();
  }
}
