// Package httpapi is the HTTP interface of Rota: the API under /api/v1, the health checks, the OpenAPI
// document and two HTML pages.
//
// A request passes these steps in order: recovery from panics, authentication, the rate limiter, the
// router, the semaphore of its request class, the strict parser of its query and body, and the handler
// of its resource. Handlers turn requests into commands, and entities into the types of package api; the
// store decides whether a command is valid.
//
// Routes, parameters, bodies and responses are described to huma, which builds the OpenAPI document
// and registers the routes on the standard mux. This package parses bodies itself: an error never
// repeats values of the request, names every invalid field by its path, and needs no second pass over
// the body.
//
// Start reading at New in api.go and at route in route.go.
package httpapi
