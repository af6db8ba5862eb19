import type { ProtocolEndpoint } from '../../../src/plugins/protocol-endpoint';
import { languageOf, markup, showPage } from '../../pages';
import { access, PAGES } from '../endpoints/method';
import type { Issuer } from './settings';

const TEXTS = {
  en: {
    title: 'Settings',
    where: 'People sign in to this service at',
    programs: 'There they see which programs have access, and take it back.',
    data: 'Their app makes tokens, exports their data and deletes their account.',
  },
  fr: {
    title: 'Réglages',
    where: 'On se connecte à ce service chez',
    programs: 'On y voit quels programmes ont accès, et on le leur retire.',
    data: 'L’application fait les jetons, exporte les données et supprime le compte.',
  },
};

/** What people see of their settings who sign in elsewhere. */
export function settingsElsewhere({ name }: Issuer): ProtocolEndpoint {
  return {
    path: '/settings',
    methods: {
      GET: {
        operationId: 'getSettingsPage',
        summary: 'Where people have their settings',
        access,
        responses: PAGES,
        handler: async (ctx) => {
          const texts = TEXTS[languageOf(ctx)];
          const content = markup`<p>${texts.where} <strong>${new URL(name).host}</strong>. ${texts.programs}</p>
            <p>${texts.data}</p>`;
          showPage(ctx, texts.title, content);
        },
      },
    },
  };
}
