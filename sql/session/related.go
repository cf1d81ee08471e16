package session

import (
	"slices"

	"github.com/rotajobs/rota"
)

// related returns the commands of all that share a name with the commands of with, directly or through other commands.
// The dry run of a statement in a long transaction sends only these.
func related(all, with []rota.Command) []rota.Command {
	touched, taken := map[string]bool{}, make([]bool, len(all))
	for _, c := range with {
		addNames(touched, c)
	}
	for grown := true; grown; {
		grown = false
		for i, c := range all {
			if !taken[i] && slices.ContainsFunc(namesOf(c), func(name string) bool { return touched[name] }) {
				taken[i], grown = true, true
				addNames(touched, c)
			}
		}
	}
	var list []rota.Command
	for i, c := range all {
		if taken[i] {
			list = append(list, c)
		}
	}
	if slices.ContainsFunc(slices.Concat(list, with), dropsUser) {
		return all
	}
	return list
}

// dropsUser reports whether a command drops a user, which depends on every command that changes an owner.
func dropsUser(c rota.Command) bool {
	drop, is := c.(*rota.DropPrincipal)
	return is && drop.Kind == rota.KindUser
}

func addNames(touched map[string]bool, c rota.Command) {
	for _, name := range namesOf(c) {
		touched[name] = true
	}
}

// namesOf returns the names of the definitions, users and roles that a command reads or writes.
func namesOf(c rota.Command) []string {
	const template, schedule, principal = "template ", "schedule ", "principal "
	switch c := c.(type) {
	case *rota.PutTemplate:
		if c.OnlySchedule == "" {
			return []string{template + c.Name}
		}
		return []string{template + c.Name, schedule + c.OnlySchedule}
	case *rota.Unarchive:
		return []string{template + c.Name}
	case *rota.PutSchedule:
		names := []string{schedule + c.Name, template + c.Spec.Template}
		for _, on := range c.Spec.DependsOn {
			names = append(names, schedule+on)
		}
		return names
	case *rota.Drop:
		return []string{schedule + c.Name, template + c.Name}
	case *rota.Trigger:
		return []string{schedule + c.Schedule}
	case *rota.Cancel:
		return []string{"job " + c.JobID.String()}
	case *rota.SetOwner:
		return []string{template + c.Name, schedule + c.Name, principal + c.Owner}
	case *rota.PutPrincipal:
		return []string{principal + c.Name}
	case *rota.DropPrincipal:
		return []string{principal + c.Name}
	case *rota.GrantPrivileges:
		var names []string
		for _, name := range append([]string{c.Role}, c.To...) {
			names = append(names, principal+name)
		}
		if c.Job != "" {
			names = append(names, template+c.Job, schedule+c.Job)
		}
		return names
	}
	return nil
}
