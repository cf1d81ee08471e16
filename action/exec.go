package action

import (
	"context"
	"errors"

	"github.com/rotajobs/rota"
)

// Exec is a command of the operating system.
type Exec struct {
	Command string            `json:"command" jsonschema:"minLength=1,description=the program"`
	Args    []string          `json:"args,omitempty" jsonschema:"description=its arguments"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"description=variables of its environment"`
	Stdin   string            `json:"stdin,omitempty" jsonschema:"description=what it reads"`
}

// JobType names the type.
func (Exec) JobType() string { return "exec" }

// refuseExec fails every job of the type. The type exists so that imported jobs are
// accepted and report why they do not run. Permission to submit a job must not
// include running programs by default.
func refuseExec(context.Context, Exec) error {
	return rota.Permanent(&failure{codeDisabled, errors.New(
		"external commands are off until they are configured, which comes with a later release; until then, run the command " +
			"from a handler of your own, or call it by HTTP with a job of type http")})
}
