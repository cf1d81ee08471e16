// Package console runs SQL against a store: the statements of package ddl, and
// queries over the catalogue of package sys.
//
// A definition that is made here is a template and a schedule of one name, and so
// the same thing as one that was made over HTTP: each face shows what the other
// made. What says what is done (AS, ON TARGET, RUN AS) is the template's; what says
// when and how (SCHEDULE, retries, priority, params) is the schedule's, so that
// changing one job changes no other.
//
// Every statement is one command, all or nothing. Between BEGIN and COMMIT the
// statements are kept and tried dry, each together with those before it, so that an
// error comes where it belongs; COMMIT sends them as one [rota.All]. Queries see
// what is committed.
package console
