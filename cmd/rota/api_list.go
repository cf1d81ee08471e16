package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

// page is one page of a list, with items as the server sent them.
type page = api.List[json.RawMessage]

// listFlags holds the flags of every list command.
type listFlags struct {
	limit  int
	cursor string
	keeps  func(item json.RawMessage) bool // selects items of the answer; nil: all
}

const (
	listDefault = 100
	listMax     = 1_000_000 // largest value of --limit
)

func (l *listFlags) flags(cmd *cobra.Command) {
	addNumberFlag(cmd, &l.limit, "limit", listDefault, 0, listMax, "list at most `N` items; 0 lists all")
	cmd.Flags().StringVar(&l.cursor, "cursor", "", "continue after a previous list, with `CURSOR` from its next_cursor")
}

// list reads pages up to the limit and joins them.
func (a *app) list(ctx context.Context, path string, query url.Values, l listFlags) (page, error) {
	all := page{Items: []json.RawMessage{}, NextCursor: api.Text(l.cursor)}
	for {
		size := rota.PageMax
		if l.limit > 0 {
			size = min(size, l.limit-len(all.Items))
		}
		part, err := a.page(ctx, path, query, all.NextCursor, size)
		if err != nil {
			return page{}, err
		}
		if l.keeps != nil {
			part.Items = slices.DeleteFunc(part.Items, func(item json.RawMessage) bool { return !l.keeps(item) })
		}
		all.Items, all.NextCursor = append(all.Items, part.Items...), part.NextCursor
		if all.NextCursor == "" || l.limit > 0 && len(all.Items) >= l.limit {
			return all, nil
		}
	}
}

func (a *app) page(ctx context.Context, path string, query url.Values, cursor api.Text, size int) (page, error) {
	asked := url.Values{"limit": {strconv.Itoa(size)}}
	for name, values := range query {
		asked[name] = values
	}
	if cursor != "" {
		asked.Set("cursor", string(cursor))
	}
	p, _, err := fetch[page](ctx, a, apiclient.Request{Method: http.MethodGet, Path: path, Query: asked})
	return p, err
}

// printPage prints a list as a table, with a hint for the next page, or the list as JSON or YAML.
func printPage[T any](a *app, p page, t *table, row func(T) []string) error {
	if a.output != formatTable {
		return a.print(p, nil)
	}
	for _, item := range p.Items {
		value, err := decode[T](item)
		if err != nil {
			return err
		}
		t.add(row(value)...)
	}
	err := a.print(p, func(w io.Writer) { a.printTable(w, t) })
	if err == nil && p.NextCursor != "" {
		_, err = fmt.Fprintf(a.err, "there are more: continue with --cursor %s, or list all with --limit 0\n", p.NextCursor)
	}
	return err
}

// listing is a command that prints a list of items of type T.
type listing[T any] struct {
	path    string
	filters filters
	search  *searchFlags           // nil: the list has no such flags
	prepare func(query url.Values) // changes the query before it is sent; nil: nothing to change
	heads   []string               // columns, as newTable takes them
	drop    []string               // columns that may be dropped, as mayDrop takes them
	none    string                 // text for an empty list
	row     func(T) []string

	// empty returns the text for an empty list, instead of none, or why it is empty as an error; nil: none.
	empty func(ctx context.Context, query url.Values) (string, error)
}

// command completes the command: it adds the flags of every list.
func (l listing[T]) command(a *app, cmd *cobra.Command) *cobra.Command {
	var flags listFlags
	flags.flags(cmd)
	if cmd.Args == nil {
		cmd.Args = noArgs()
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return l.print(cmd.Context(), a, l.filters.query(), flags) }
	return cmd
}

func (l listing[T]) print(ctx context.Context, a *app, query url.Values, flags listFlags) error {
	if err := a.resolveFilters(ctx, query); err != nil {
		return err
	}
	if l.search != nil {
		if err := l.search.fill(a, query); err != nil {
			return err
		}
		flags.keeps = l.search.keeps
	}
	if l.prepare != nil {
		l.prepare(query)
	}
	found, err := a.list(ctx, l.path, query, flags)
	if err != nil {
		return err
	}
	if l.empty != nil && len(found.Items) == 0 && flags.cursor == "" {
		if l.none, err = l.empty(ctx, query); err != nil {
			return err
		}
	}
	return printPage(a, found, newTable(l.heads...).mayDrop(l.drop...).orElse(l.none), l.row)
}

// filters holds flags that become query parameters of the same name.
type filters map[string]*string

// add adds the flag of a filter.
func (f filters) add(cmd *cobra.Command, name, usage string, words ...string) {
	value := ""
	f[name] = &value
	cmd.Flags().StringVar(&value, name, "", usage)
	refuseEmpty(cmd, name)
	if words != nil {
		completeFrom(cmd, name, words)
	}
}

func (f filters) query() url.Values {
	query := url.Values{}
	for name, value := range f {
		if *value != "" {
			query.Set(name, *value)
		}
	}
	return query
}

// body returns the filters as fields of a bulk request.
func (f filters) body() map[string]any {
	body := map[string]any{}
	for name, value := range f {
		if *value != "" {
			body[name] = *value
		}
	}
	return body
}
