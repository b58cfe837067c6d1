import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../store/config.ts';
import { makeConfigurationPage } from './configurationPage.ts';
import { makeThirdPartyNotices } from './thirdPartyNotices.ts';

/** Writes the pages that are made from the sources: part of `npm run generate`. */

writeFileSync(join(projectDir, 'docs/configuration.md'), makeConfigurationPage());
writeFileSync(join(projectDir, 'THIRD_PARTY_NOTICES.md'), makeThirdPartyNotices());
