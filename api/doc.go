// Package api holds the JSON types of Rota's HTTP API: the bodies of requests and responses, and their
// conversion to and from the types of package rota. Package httpapi serves them; package worker and the
// command line send and read them.
//
// The name of a type is the name of its schema in the OpenAPI document, and its doc tags are the
// descriptions there. A time, an id or a text that is not set is null in JSON.
package api
