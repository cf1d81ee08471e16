package worker

import "github.com/rotajobs/rota"

// errUnsupported refuses a call that the worker protocol does not support: a claim has the whole job, and the server
// does everything else.
func errUnsupported(act string) *rota.Error {
	return &rota.Error{
		Code: rota.Invalid, Act: act, Reason: "is not part of the worker protocol", Hint: "use the HTTP API of the server",
	}
}
