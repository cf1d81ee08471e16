package definitions

import (
	"github.com/rotajobs/rota"
)

// An import needs ADMIN, and what its commands create belongs to its sender. Another owner must be set in the same step:
// until then the jobs would run with the rights of the sender.

// ownerOf returns the owner that a definition gets. given is that of the document, stored that of the definition in the
// store, empty if there is none.
func (p *plan) ownerOf(given, stored string) (string, error) {
	switch {
	case given == "" && stored != "":
		return stored, nil
	case given == "":
		return p.importer()
	}
	exists, err := p.isUser(given)
	switch {
	case err != nil:
		return "", err
	case exists:
		return given, nil
	case p.request.Owner != "":
		return p.request.Owner, nil
	case p.request.Replay: // the store decides
		return given, nil
	}
	return "", &rota.Error{
		Code: rota.Invalid, Field: "owner", Reason: "there is no user " + given,
		Hint: "create it first: rota user create " + given + "; or name the user that gets such definitions: rota import --owner USER, or the parameter owner of HTTP",
	}
}

// importer returns the owner of what the commands create.
func (p *plan) importer() (string, error) {
	actor := p.request.Actor
	if actor == "" || rota.ReservedPrincipal(actor) {
		return rota.AdminUser, nil
	}
	is, err := p.isUser(actor)
	if err != nil || !is {
		return rota.AdminUser, err
	}
	return actor, nil
}

// isUser reports whether a user exists.
func (p *plan) isUser(name string) (bool, error) {
	if name == rota.AdminUser {
		return true, nil
	}
	if is, known := p.users[name]; known {
		return is, nil
	}
	user, err := nilIfNotFound(p.Store.Principal(p.ctx, name))
	if err != nil {
		return false, err
	}
	p.users[name] = user != nil && user.Kind == rota.KindUser
	return p.users[name], nil
}

// checkOwner refuses an owner of the request that does not exist.
func (p *plan) checkOwner() error {
	if p.request.Owner == "" || p.request.Replay {
		return nil
	}
	is, err := p.isUser(p.request.Owner)
	if err != nil || is {
		return err
	}
	return &rota.Error{Code: rota.Invalid, Field: "owner", Reason: "there is no user " + p.request.Owner, Hint: "name an existing user"}
}

// noteOwner adds a note to the last item if its owner is not one of the document.
func (p *plan) noteOwner(given, owner string) {
	item := &p.items[len(p.items)-1]
	switch {
	case given == "" && item.Change == changeCreated:
		item.Notes = append(item.Notes, "owner: "+owner+" (not in the document)")
	case given != "" && given != owner:
		item.Notes = append(item.Notes, "owner: "+owner+" (there is no user "+given+")")
	}
}

// ownerCommand returns the command that sets the owner of a template or schedule. Without a version it belongs to the step
// of the command before it, which creates or changes the definition.
func (p *plan) ownerCommand(path, kind, name, owner string, version *rota.ID) planCommand {
	command := &rota.SetOwner{Meta: p.meta(ownerAct(kind, name)), Name: name, Owner: owner, Kind: kind, Version: version}
	return planCommand{Command: command, path: path, follows: version == nil}
}

func ownerAct(kind, name string) string { return "owner of " + kind + " " + name }
