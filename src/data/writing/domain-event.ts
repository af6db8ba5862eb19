/** Something that happened to a resource, for other plugins to act on within the same transaction. */
export class DomainEvent<Payload> {
  /** Never there: it carries the payload's type to emitters and listeners. */
  declare readonly payload?: Payload;

  /** @param name the resource and what happened to it, such as `record.deleted` */
  constructor(readonly name: string) {}
}
