import type { Configuration } from 'oidc-provider';

import { ApiError } from '../../../src/core/errors';
import { languageOf, markup, showPage } from '../../pages';
import { UnreachableHost } from '../server/documents';
import { PageFault, TEXTS } from './texts';
import { showFault } from './browser-request';

/** Shows why the library refused a request. */
export const showRefusal: NonNullable<Configuration['renderError']> = (ctx, out, { cause }) => {
  // An ApiError comes from the budget of fetches.
  const isTooFast = cause instanceof ApiError;
  if (isTooFast || cause instanceof UnreachableHost) {
    showFault(ctx, new PageFault(isTooFast ? 'tooFast' : 'unreachable', ctx.status));
    return;
  }
  const { failed, requestRefused } = TEXTS[languageOf(ctx)];
  const why = out.error_description ?? out.error;
  const content = markup`<p class="fault" role="alert">${requestRefused} ${why}.</p>`;
  showPage(ctx, failed, content, { status: ctx.status });
};
