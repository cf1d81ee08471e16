package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// create sends a POST that creates an object. The server reports a missing type, template or schedule in the body as
// invalid; create turns that into the exit code for not found, as other commands have it.
func create[T any](ctx context.Context, a *app, path string, body map[string]any) (value T, answer json.RawMessage, err error) {
	value, answer, err = fetch[T](ctx, a, newPost(path, body))
	var refused *exitError
	if !errors.As(err, &refused) || refused.code != exitUsage {
		return value, answer, err
	}
	for _, field := range refused.fields {
		for _, path := range referencedPaths(body, field) {
			if _, missing := a.call(ctx, newGet(path)); exitCode(missing) == exitNotFound {
				refused.code = exitNotFound
			}
		}
	}
	return value, answer, err
}

// referencedPaths returns the API paths of the objects that a field of the body names. The field may be in a job of a
// group: jobs[0].type.
func referencedPaths(body map[string]any, field string) (paths []string) {
	if member, inside := strings.CutPrefix(field, "jobs["); inside {
		number, rest, _ := strings.Cut(member, "].")
		members, _ := body["jobs"].([]any)
		at, err := strconv.Atoi(number)
		if err != nil || at < 0 || at >= len(members) {
			return nil
		}
		body, _ = members[at].(map[string]any)
		field = rest
	}
	switch field {
	case "type", "template":
		if name, is := body[field].(string); is {
			paths = append(paths, "/"+field+"s"+pathSegment(name))
		}
	case "depends_on":
		names, _ := body[field].([]string)
		for _, name := range names {
			paths = append(paths, "/schedules"+pathSegment(name))
		}
	}
	return paths
}

// isUsageErrorOf reports whether the server refused this field as invalid.
func isUsageErrorOf(err error, field string) bool {
	var refused *exitError
	return errors.As(err, &refused) && refused.code == exitUsage && slices.Contains(refused.fields, field)
}
