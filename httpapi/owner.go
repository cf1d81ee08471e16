package httpapi

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// The owner of a template or schedule changes with a command of its own, which needs ADMIN. It is therefore the only
// field of its request, and nothing else of the request can be done or refused beside it.

// refuseOwner refuses an owner where it cannot be set.
func refuseOwner(owner api.Opt[string], hint string) error {
	if !owner.Set {
		return nil
	}
	return &rota.Error{Code: rota.Invalid, Field: "owner", Reason: "cannot be set here", Hint: hint}
}

const (
	ownerOfNew    = "omit it: what you create belongs to you; PATCH changes it later"
	ownerOfChange = "change the owner in a request without other fields"
)

// setOwner changes the owner of the template or schedule in the path.
func (c *call) setOwner(kind string, owner *string) (*rota.OwnerSet, error) {
	if owner == nil {
		return nil, rota.Invalidf("owner", "is null; name a user")
	}
	set, err := do[*rota.OwnerSet](c, &rota.SetOwner{Meta: c.meta(), Name: c.name(), Owner: *owner, Kind: kind, Version: c.required})
	if err == nil && set.Template == nil && set.Schedule == nil { // a replayed request, and it was deleted since
		return nil, &rota.Error{Code: rota.NotFound, Reason: "there is no " + kind + " " + c.name(), Hint: "check the name"}
	}
	return set, problem.InBody(err)
}
