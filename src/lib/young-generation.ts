/**
 * Thread: any. How much a thread of ours may have of young objects; V8's default is 48 MB, 16 of which are filled before it collects them.
 *
 * The owner: what an event brings lies in buffers outside of the heap, which V8 frees only with the objects that hold them. With 48 MB the young
 * generation filled so seldom that V8 collected the whole heap instead, for the sake of the buffers, three times a second. Front ends and
 * controllers: each keeps some 25 MB less in the long run, at the same cost of a GET (docs/adr/0041-collections.md). Pool threads make most of all
 * garbage, and keep the default; the main thread's cannot be set once Node runs.
 */
export const YOUNG_GENERATION_MB = 12
