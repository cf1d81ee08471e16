package access

import "github.com/rotajobs/rota"

// notFound is the answer about a row that the identity may not see. It has the words of the store about a row that does
// not exist: other words would show that the row exists.
func notFound(kind, name string) *rota.Error {
	refusal := &rota.Error{Code: rota.NotFound, Act: kind, Reason: "there is no " + kind + " " + name, Hint: "rota " + kind + " list shows the " + kind + "s"}
	switch kind {
	case kindJob:
		refusal.Hint = "check the id; the job may have been pruned; rota job list shows the jobs"
	case kindPrincipal:
		refusal.Act, refusal.Hint = "principal", "rota user list and rota role list show the names"
	case kindDefinition:
		refusal.Reason, refusal.Hint = "no definition has the id "+name, "check the id; rota schedule list shows the schedules"
	}
	return refusal
}

// Kinds of rows besides templates, schedules and jobs.
const (
	kindGroup      = "group"
	kindToken      = "token"
	kindPrincipal  = "user or role"
	kindDefinition = "definition"
)

// notDefined is the answer about a template or schedule on which an identity may not grant privileges. It is never the
// answer of the store.
func notDefined(name string) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Field: "job", Reason: "there is no template or schedule " + name,
		Hint: "check the name; rota template list and rota schedule list show the names",
	}
}
