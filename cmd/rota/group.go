package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/rotajobs/rota/api"
	"github.com/spf13/cobra"
)

func newGroupCommand(a *app) *cobra.Command {
	return newParentCommand("group", "List, show, create and cancel groups of jobs",
		newGroupListCommand(a), newGroupShowCommand(a), newGroupCreateCommand(a), newGroupCancelCommand(a))
}

func newGroupListCommand(a *app) *cobra.Command {
	return listing[api.Group]{
		path: "/groups", none: "no groups",
		heads: []string{"ID", "^NAME", "!STATUS", "MODE", "CREATED", "~MEMBERS"}, drop: []string{"MODE", "CREATED", "MEMBERS"},
		row: func(g api.Group) []string {
			return []string{g.ID.String(), string(g.Name), g.Status, g.Mode, a.ago(g.CreatedAt.Time), countsText(g)}
		},
	}.command(a, &cobra.Command{Use: "list", Short: "List groups, newest first", Example: "  rota group list --limit 10"})
}

// countsText lists the number of members in each state that has members.
func countsText(g api.Group) string {
	var parts []string
	for _, count := range []struct {
		n    int
		word string
	}{
		{g.Counts.Completed, "completed"},
		{g.Counts.Running, "running"},
		{g.Counts.Queued, "queued"},
		{g.Counts.Dead, "dead"},
		{g.Counts.Skipped, "skipped"},
		{g.Counts.Cancelled, "cancelled"},
	} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.word))
		}
	}
	return strings.Join(parts, ", ")
}

func newGroupShowCommand(a *app) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: "show ID", Short: "Show a group and its members", Example: "  rota group show 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60",
	}, "/groups", "", a.writeGroup)
}

func (a *app) writeGroup(w io.Writer, g api.GroupDetail) {
	s := &keyValues{}
	s.add("id", g.ID.String())
	s.add("name", string(g.Name))
	s.add("status", g.Status)
	s.add("mode", g.Mode)
	s.add("on failure", g.OnFailure)
	s.add("members", fmt.Sprintf("%d: %s", g.Size, countsText(g.Group)))
	if g.Ending != "" {
		s.add("ended", string(g.Ending)+byActor(g.EndingBy))
		s.add("because", string(g.EndingReason))
	}
	s.add("created", a.timestamp(g.CreatedAt.Time)+byActor(g.CreatedBy))
	a.printKeyValues(w, s)
	if len(g.Jobs) > 0 {
		fmt.Fprintln(w)
		a.writeJobs(w, g.Jobs)
	}
}

const groupCreateExample = `  rota group create --name import --mode sequential --on-failure stop --job load --job 'build={"table": "users"}'
  rota group create --file group.yaml

  # group.yaml
  name: import
  mode: sequential      # or parallel
  on_failure: stop      # or continue, or skip
  jobs:
    - {type: load}
    - {template: build, params: {table: users}, max_retries: 5}`

func newGroupCreateCommand(a *app) *cobra.Command {
	var file string
	var jobs []string
	cmd := &cobra.Command{
		Use: "create", Short: "Create a group of jobs", Args: noArgs(), Example: groupCreateExample,
		Long: `Create a group of jobs: those in the file and those of --job. All jobs are enqueued, or none. Flags override the
fields of the file.`,
	}
	flags := cmd.Flags()
	flags.StringVar(&file, "file", "", "read the group from a YAML or JSON `FILE`, or - for standard input")
	flags.StringArrayVar(&jobs, "job", nil, "one member as `TYPE[=PARAMS]`; PARAMS is a JSON object (repeatable)")
	s := newBodyFlags(cmd)
	s.add("name", "name", "NAME", "name of the group", asText)
	s.add("mode", "mode", "MODE", "run members in parallel or one after the other: parallel or sequential", asText, "parallel", "sequential")
	s.add("on-failure", "on_failure", "ACTION", "what happens to members that have not started when a member fails for good: continue, stop or skip", asText, "continue", "stop", "skip")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		body, err := a.groupFile(file)
		if err != nil {
			return err
		}
		if err := addMembers(body, jobs); err != nil {
			return err
		}
		if err := s.fill(body); err != nil {
			return err
		}
		if members, _ := body["jobs"].([]any); len(members) == 0 {
			return usagef("add --file FILE or --job TYPE", "the group has no members")
		}
		g, answer, err := create[api.Group](cmd.Context(), a, "/groups", body)
		if err != nil {
			return err
		}
		return a.printMessage(answer, "%s created with %s", g.ID, plural(g.Size, "member", "members"))
	}
	return cmd
}

// groupFile reads a group from a file. JSON is a subset of YAML, so one parser reads both.
func (a *app) groupFile(name string) (map[string]any, error) {
	if name == "" {
		return map[string]any{}, nil
	}
	text, err := a.fileText(name)
	if err != nil {
		return nil, err
	}
	d, err := readFields(fileName(name), text, "a group", "see rota group create --help")
	if err != nil {
		return nil, err
	}
	body := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(d.json))
	decoder.UseNumber() // params keep every digit
	return body, decoder.Decode(&body)
}

func addMembers(body map[string]any, jobs []string) error {
	members, _ := body["jobs"].([]any)
	for _, text := range jobs {
		kind, params, given := strings.Cut(text, "=")
		member := map[string]any{"type": kind}
		if given {
			var object map[string]json.RawMessage
			if err := json.Unmarshal([]byte(params), &object); err != nil || object == nil {
				return badJSON("the value of --job "+shortened(kind), err)
			}
			member["params"] = json.RawMessage(params)
		}
		members = append(members, member)
	}
	if len(members) > 0 {
		body["jobs"] = members
	}
	return nil
}

func newGroupCancelCommand(a *app) *cobra.Command {
	reason := ""
	cmd := &cobra.Command{
		Use: "cancel ID", Short: "Cancel a group; running members are asked to stop", Args: requireID("an ID"),
		Example:           "  rota group cancel 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60 --reason 'wrong file'",
		ValidArgsFunction: a.completeNames("/groups", "id"),
	}
	cmd.Flags().Var(textFlag(&reason, "TEXT"), "reason", "reason, which is stored with the group")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := a.resolveID(cmd.Context(), "/groups", args[0])
		if err != nil {
			return err
		}
		g, answer, err := fetch[api.GroupCancelled](cmd.Context(), a, newPost("/groups"+pathSegment(id)+"/cancel", reasonBody(reason)))
		if err != nil {
			return err
		}
		text := fmt.Sprintf("cancelled %s, asked %d to stop", plural(g.Cancelled, "member", "members"), g.Stopping)
		if g.More {
			text += "; the server cancels the rest in the background, and none of them starts"
		}
		return a.printMessage(answer, "%s", text)
	}
	return cmd
}
