package main

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

// searchFlags holds the flags of lists of jobs, executions and audit entries that search beside the usual filters.
type searchFlags struct {
	times                      timeFlags
	name, code, text           string
	uniqueKey, scope, errorHas string
}

// flags adds the flags; noun names the items of the list.
func (f *searchFlags) flags(cmd *cobra.Command, noun string) {
	f.times.flags(cmd, noun)
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "only "+noun+" with this `NAME`: that of their schedule or their template, or else their type")
	flags.StringVar(&f.errorHas, "error", "", "only "+noun+" with `TEXT` in their error")
	flags.StringVar(&f.code, "code", "", "only "+noun+" of runs with this error `CODE`, such as timeout")
	flags.StringVar(&f.text, "search", "", "only "+noun+" with `TEXT` in their name, type, template, schedule, unique key, scope or error")
	flags.StringVar(&f.uniqueKey, "unique", "", "only "+noun+" with this unique `KEY`")
	flags.StringVar(&f.scope, "scope", "", "only "+noun+" with this scope, as `KIND=ID`")
	refuseEmpty(cmd, "name", "error", "code", "search", "unique", "scope")
}

// fill writes the flags into a query.
func (f *searchFlags) fill(a *app, query url.Values) error {
	if err := f.times.fill(a, query); err != nil {
		return err
	}
	if f.errorHas != "" && f.text != "" {
		return usagef("remove one of them; --search also searches errors", "--error and --search cannot be combined")
	}
	for name, value := range map[string]string{"name": f.name, "error_code": f.code, "q": f.text + f.errorHas, "unique_key": f.uniqueKey} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.scope == "" {
		return nil
	}
	scope, err := readScope(f.scope)
	query.Set("scope_kind", scope.Kind)
	query.Set("scope_id", scope.ID)
	return err
}

// keeps reports whether an item of the answer has the text of --error in its error. The server searches other texts too.
func (f *searchFlags) keeps(item json.RawMessage) bool {
	if f.errorHas == "" {
		return true
	}
	var v struct {
		Error, Detail string
		Run           struct{ Error string }
	}
	_ = json.Unmarshal(item, &v)
	return strings.Contains(strings.ToLower(v.Error+"\n"+v.Detail+"\n"+v.Run.Error), strings.ToLower(f.errorHas))
}
