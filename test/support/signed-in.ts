/** Browsers of people, for the tests of pages. */
export { Browser, type Page } from '../../plugins/oauth/test/support/browser';
export { inviteTo, PASSWORD, person } from '../../plugins/oauth/test/support/people';
