// Plays scenarios, one after the other in one VS Code: a start of it takes 19 s of a core. The process ends with 1 where one
// fails.
// usage: node play.mjs '{"scenarios", "scratch", "pictures", "takesPictures", "entry", "extensions", "chromium", "perfetto", "interpreter", "root", "seconds"}'
import { Stage } from './stage.mjs';

const stage = new Stage(JSON.parse(process.argv[2]));
const { scenarios, seconds } = stage.given;
try {
  for (const name of scenarios) {
    stage.begin(name);
    const { default: act } = await import(`./${name}.mjs`);
    const tooLong = setTimeout(() => stage.giveUp(new Error(`it took longer than ${seconds} s`)), 1000 * seconds);
    await Promise.race([act(stage), stage.isGivenUp]);
    clearTimeout(tooLong);
    stage.checkHosts();
  }
} catch (error) {
  process.exitCode = 1; // first of all: what explains it may fail as well
  await stage.explain(error).catch(console.error);
} finally {
  await stage.close();
  process.exit(); // what was given up may go on, and would begin anew
}
