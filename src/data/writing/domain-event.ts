/** Something that happened to a resource. Other plugins react to it in the same transaction. */
export class DomainEvent<Payload> {
  /** Never set: it carries the type of the payload. */
  declare readonly payload?: Payload;

  /** @param name the resource and what happened to it, such as `record.deleted` */
  constructor(readonly name: string) {}
}
