/** The methods of HTTP that some path takes. */
export const METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'] as const;
