import { defineWords } from '../i18n/language.tsx';

export const shellWords = defineWords({
  en: {
    workbooks: 'Workbooks',
    settings: 'Settings',
    logOut: 'Log out',
    search: 'Search tables, columns and files',
    nothingFound: 'Nothing was found.',
    theme: 'Dark or light',
    language: 'Language',
    skip: 'Skip to the content',
    noSuchPage: 'There is no such page.',
    toStart: 'Go to the workbooks',
  },
  ja: {
    workbooks: 'ワークブック',
    settings: '設定',
    logOut: 'ログアウト',
    search: '表・列・ファイルを検索',
    nothingFound: '見つかりませんでした。',
    theme: '明暗の切り替え',
    language: '言語',
    skip: '本文へ移動',
    noSuchPage: 'このページはありません。',
    toStart: 'ワークブックへ',
  },
});
