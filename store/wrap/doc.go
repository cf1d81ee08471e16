// Package wrap holds stores in front of a store: each takes a rota.Store and
// is one.
package wrap
