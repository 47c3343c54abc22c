/** The version that the API's page and the log name. */
import packageFile from '../package.json' with { type: 'json' };

export const version: string = packageFile.version;
