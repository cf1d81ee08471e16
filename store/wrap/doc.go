// Package wrap has stores that wrap another store: each takes a rota.Store and is one.
package wrap
