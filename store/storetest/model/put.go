package model

import "github.com/rotajobs/rota"

// expectation is the mode and version of a Put.
type expectation struct {
	mode    rota.PutMode
	version *rota.ID
}

// checkExpectation refuses a Put whose expectation is not met. The version is that of the row,
// nil if there is none.
func (s *step) checkExpectation(want expectation, version *rota.ID, subject string) *rota.Error {
	switch {
	case want.mode == rota.PutCreate && version != nil:
		return s.refuse(rota.Conflict, "name", "%s exists already", subject)
	case want.mode == rota.PutReplace && version == nil:
		return s.refuse(rota.NotFound, "name", "there is no %s", subject)
	case want.version != nil && version == nil:
		return s.refuse(rota.NotFound, "name", "there is no %s", subject)
	case want.version != nil && *want.version != *version:
		return s.refuse(rota.Conflict, "version", "%s was changed meanwhile", subject)
	}
	return nil
}
