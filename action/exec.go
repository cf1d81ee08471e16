package action

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Exec is a program of the operating system.
type Exec struct {
	Command string            `json:"command" jsonschema:"minLength=1,maxLength=4096,description=the program: its absolute path\\, or a name without a slash"`
	Args    []string          `json:"args,omitempty" jsonschema:"maxItems=1000,description=its arguments"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"description=variables of its environment; the configuration lists those that may be set"`
	Stdin   string            `json:"stdin,omitempty" jsonschema:"description=what it reads"`
	Dir     string            `json:"dir,omitempty" jsonschema:"maxLength=4096,description=its working directory"`
	User    string            `json:"user,omitempty" jsonschema:"maxLength=64,description=the account of the system that it runs as\\, if the server runs as root"`
}

// JobType names the type.
func (Exec) JobType() string { return "exec" }

// ExecSpec is how servers and workers declare the type exec, whether they run programs or leave the jobs to others.
func ExecSpec() rota.TypeSpec {
	reg := engine.NewRegistry()
	(&Commands{}).register(reg)
	spec, _ := reg.Spec(Exec{}.JobType())
	return spec
}

// Error codes of programs. The run of a user without the right gets codeDenied.
const (
	codeRefusedExec = "exec_refused"   // the configuration does not allow the program, a variable or the user
	codeNotFound    = "exec_not_found" // there is no such program
	codeStart       = "exec_start"     // the program could not be started
	codeExit        = "exec_exit"      // its exit code is not 0
	codeSignal      = "exec_signal"    // a signal ended it
	codeMemory      = "exec_memory"    // it reached its limit of memory
	codeLimit       = "exec_limit"     // it reached another limit
)
