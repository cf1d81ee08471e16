package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// page is one page of a list, with items as the server sent them.
type page = api.List[json.RawMessage]

// listFlags holds the flags of every list command.
type listFlags struct {
	limit  int
	cursor string
}

const (
	listDefault = 100
	listMax     = 1_000_000 // largest value of --limit
)

func (l *listFlags) flags(cmd *cobra.Command) {
	addNumberFlag(cmd, &l.limit, "limit", listDefault, 0, listMax, "list at most `N` items; 0 lists all")
	cmd.Flags().StringVar(&l.cursor, "cursor", "", "continue after a previous list, with `CURSOR` from its next_cursor")
	completeFrom(cmd, "cursor", nil)
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
	answer, err := a.get(ctx, path, asked)
	if err != nil {
		return page{}, err
	}
	return decode[page](answer)
}

// printPage prints a list as a table, with a hint for the next page, or the list as JSON or YAML.
func printPage[T any](a *app, p page, none string, t *table, row func(T) []string) error {
	return a.print(p, func(w io.Writer) error {
		if len(p.Items) == 0 {
			_, err := fmt.Fprintln(w, none)
			return err
		}
		for _, item := range p.Items {
			value, err := decode[T](item)
			if err != nil {
				return err
			}
			t.add(row(value)...)
		}
		if err := a.printTable(w, t); err != nil || p.NextCursor == "" {
			return err
		}
		_, err := fmt.Fprintf(a.err, "there are more: continue with --cursor %s, or list all with --limit 0\n", p.NextCursor)
		return err
	})
}

// filters holds flags that become query parameters of the same name.
type filters map[string]*string

// add adds the flag of a filter.
func (f filters) add(cmd *cobra.Command, name, usage string, words ...string) {
	value := ""
	f[name] = &value
	cmd.Flags().StringVar(&value, name, "", usage)
	completeFrom(cmd, name, words)
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
