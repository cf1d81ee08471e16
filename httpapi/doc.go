// Package httpapi is the HTTP face of Rota: the API under /api/v1, and beside it
// the health checks, the OpenAPI document and two small pages.
//
// A request passes, in this order: the shield against panics, the token, the
// bounds on how fast and how much is asked at once, the table of routes, the
// reader of its query and body, which is strict, and at last the handler of its
// noun. Handlers turn requests into commands and entities into the DTOs of the
// model files; what is right is decided by the store.
//
// The routes, their params, bodies and answers are described to huma, which
// makes the OpenAPI document of them and puts them on the standard mux. Bodies
// are read here and not by huma, so that an error never repeats what stood in a
// request, names every field that is wrong by its path, and costs no second
// reading.
package httpapi
