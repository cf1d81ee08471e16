package model

import "github.com/rotajobs/rota"

// expectation is the mode and version of a Put.
type expectation struct {
	mode    rota.PutMode
	version *rota.ID
}

// checkVersion refuses a command for a version that is no longer the current one.
func (s *step) checkVersion(wanted *rota.ID, version rota.ID, subject string) *rota.Error {
	if wanted == nil || *wanted == version {
		return nil
	}
	return s.refuse(rota.Conflict, "version", "%s was changed meanwhile", subject)
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
