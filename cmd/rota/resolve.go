package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// candidate is an object of a list that has ids, with what tells a person which one it is.
type candidate struct {
	ID         api.ID   `json:"id"`
	Type       string   `json:"type"`
	Name       api.Text `json:"name"`
	Node       string   `json:"node"`
	State      string   `json:"state"`
	Status     string   `json:"status"`
	CreatedAt  api.Time `json:"created_at"`
	ReservedAt api.Time `json:"reserved_at"`
}

// idKind is a kind of objects that commands name by id.
type idKind struct {
	one, many string // nouns
	list      string // command that lists them
	heads     []string
	row       func(c candidate) []string
}

// idKinds holds the kinds by the path of their list.
var idKinds = map[string]idKind{
	"/jobs": {
		"job", "jobs", "rota job list",
		[]string{"ID", "TYPE", "NAME", "!STATE"},
		func(c candidate) []string { return []string{c.Type, string(c.Name), c.State} },
	},
	"/groups": {
		"group", "groups", "rota group list",
		[]string{"ID", "NAME", "!STATUS"},
		func(c candidate) []string { return []string{string(c.Name), c.Status} },
	},
	"/reservations": {
		"reservation", "reservations", "rota reservation list",
		[]string{"ID", "NODE", "!STATUS"},
		func(c candidate) []string { return []string{c.Node, c.Status} },
	},
}

// candidatesMax is how many candidates the error of an ambiguous argument lists.
const candidatesMax = 10

// resolveID returns the id of the object of a list that a text names: an id, or 8 or more characters of its beginning.
// Only a beginning takes a request.
func (a *app) resolveID(ctx context.Context, path, text string) (string, error) {
	if id, err := rota.ParseID(text); err == nil {
		return id.String(), nil
	}
	if err := checkIDs([]string{text}); err != nil {
		return "", err
	}
	kind := idKinds[path]
	found, err := a.page(ctx, path, url.Values{"id_prefix": {text}}, "", candidatesMax+1)
	if err != nil {
		return "", err
	}
	all, err := candidatesOf(found.Items)
	switch {
	case err != nil:
		return "", err
	case len(all) == 0:
		hint := fmt.Sprintf("check the id; the %s may have been pruned; %s shows the %s", kind.one, kind.list, kind.many)
		return "", failf(exitNotFound, hint, "there is no %s whose id begins with %s", kind.one, text)
	case len(all) == 1:
		return all[0].ID.String(), nil
	}
	return "", a.ambiguous(kind, shortened(text), all)
}

func candidatesOf(items []json.RawMessage) ([]candidate, error) {
	all := make([]candidate, len(items))
	for i, item := range items {
		var err error
		if all[i], err = decode[candidate](item); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ambiguous is the error for a text that names several objects. It lists them, so that the user can choose.
func (a *app) ambiguous(kind idKind, text string, all []candidate) error {
	count, more := plural(len(all), kind.one, kind.many), ""
	if len(all) > candidatesMax {
		all = all[:candidatesMax]
		count, more = fmt.Sprintf("more than %d %s", candidatesMax, kind.many), "the newest are listed; "
	}
	t := newTable(append(slices.Clone(kind.heads), "CREATED")...)
	ids := make([]string, len(all))
	for i, c := range all {
		ids[i] = c.ID.String()
		at := cmp.Or(c.CreatedAt.Time, c.ReservedAt.Time)
		t.add(append(append([]string{ids[i]}, kind.row(c)...), a.timestamp(at))...)
	}
	var b strings.Builder
	a.printTable(&b, t)
	lines := strings.ReplaceAll(strings.TrimRight(b.String(), "\n"), "\n", "\n  ")
	n := distinctLength(ids)
	hint := fmt.Sprintf("%swrite an id, or its first %d characters, such as %s", more, n, ids[0][:n])
	return usagef(hint, "%s is not unique: it stands for %s\n  %s", text, count, lines)
}

// distinctLength returns how many characters tell the ids apart.
func distinctLength(ids []string) int {
	sorted := slices.Sorted(slices.Values(ids))
	longest := rota.IDPrefixMin
	for i := 1; i < len(sorted); i++ {
		n := 0
		for n < len(sorted[i]) && sorted[i][n] == sorted[i-1][n] {
			n++
		}
		longest = max(longest, min(n+1, len(sorted[i])))
	}
	return longest
}

// resolveFilters replaces beginnings of ids, and names of jobs, in the filters of a query by ids.
func (a *app) resolveFilters(ctx context.Context, query url.Values) error {
	if text := query.Get("group"); text != "" {
		id, err := a.resolveID(ctx, "/groups", text)
		if err != nil {
			return err
		}
		query.Set("group", id)
	}
	if text := query.Get("execution"); text != "" {
		id, err := a.resolveExecution(ctx, text)
		if err != nil {
			return err
		}
		query.Set("execution", id)
	}
	return nil
}

// checkIDs refuses a text that is neither an id nor the beginning of one.
func checkIDs(texts []string) error {
	for _, text := range texts {
		if _, _, err := rota.ParseIDPrefix(text); err != nil {
			return usagef("an id looks like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60, and its first 8 or more characters are enough; commands such as rota job list show ids",
				"%s is not an id", shortened(strconv.Quote(text)))
		}
	}
	return nil
}
