package access

import "github.com/rotajobs/rota"

// need is what a command or a read requires. A rule that depends on the definition or the job stands in check.go and
// in the readers.
type need struct {
	privilege rota.Privilege // on the definition or job that it is about; empty: none
	class     needClass
}

// needClass is the kind of a need.
type needClass int

const (
	needRead     needClass = iota // a read, filtered to what the identity may see
	needWrite                     // a privilege on what it changes
	needWorker                    // a worker token, or ADMIN
	needAdmin                     // ADMIN
	needInternal                  // only Rota itself, which does not use a Guard
	needSelf                      // any identity that may write, about itself
	needAny                       // any identity, also with a worker token
)

// scopes lists the scopes of tokens that may do it.
func (n need) scopes() []rota.TokenScope {
	switch n.class {
	case needRead:
		return []rota.TokenScope{rota.ScopeRead, rota.ScopeWrite, rota.ScopeSession}
	case needWorker:
		return []rota.TokenScope{rota.ScopeWorker, rota.ScopeWrite, rota.ScopeSession} // with scope write the user needs ADMIN
	case needSelf:
		return []rota.TokenScope{rota.ScopeWrite, rota.ScopeWorker, rota.ScopeSession}
	case needAny:
		return []rota.TokenScope{rota.ScopeRead, rota.ScopeWrite, rota.ScopeWorker, rota.ScopeSession}
	case needInternal:
		return nil
	}
	return []rota.TokenScope{rota.ScopeWrite, rota.ScopeSession}
}

// verbNeeds has a row for each verb.
var verbNeeds = map[rota.Verb]need{
	rota.VerbEnqueue:      {rota.CreateJob, needWrite}, // with a template: EXECUTE JOB on it
	rota.VerbEnqueueGroup: {rota.CreateJob, needWrite}, // as Enqueue, for each member
	rota.VerbDirect:       {rota.CreateJob, needWrite}, // as Enqueue

	rota.VerbCancel:      {rota.AlterJob, needWrite},
	rota.VerbCancelGroup: {rota.AlterJob, needWrite}, // on all jobs; or as the user that created the group
	rota.VerbEdit:        {rota.AlterJob, needWrite},
	rota.VerbMove:        {rota.AlterJob, needWrite},
	rota.VerbRedrive:     {rota.AlterJob, needWrite},

	rota.VerbPutTemplate:    {rota.AlterJob, needWrite}, // a new one: CREATE JOB
	rota.VerbUnarchive:      {rota.AlterJob, needWrite}, // of a dropped definition: CREATE JOB
	rota.VerbArchive:        {rota.DropJob, needWrite},
	rota.VerbPutSchedule:    {rota.AlterJob, needWrite}, // a new one: CREATE JOB; another template: EXECUTE JOB on it
	rota.VerbSwitchSchedule: {rota.AlterJob, needWrite},
	rota.VerbDeleteSchedule: {rota.DropJob, needWrite},
	rota.VerbDrop:           {rota.DropJob, needWrite},
	rota.VerbTrigger:        {rota.ExecuteJob, needWrite},
	rota.VerbBackfill:       {rota.ExecuteJob, needWrite},
	rota.VerbAll:            {"", needWrite}, // each of its members

	rota.VerbClaim:  {"", needWorker},
	rota.VerbExtend: {"", needWorker},
	rota.VerbNote:   {"", needWorker},
	rota.VerbFinish: {"", needWorker},

	rota.VerbPutType:     {rota.Admin, needAdmin},
	rota.VerbSwitchType:  {rota.Admin, needAdmin},
	rota.VerbPutThrottle: {rota.Admin, needAdmin},
	rota.VerbPutWebhooks: {rota.Admin, needAdmin},
	rota.VerbSetOwner:    {rota.Admin, needAdmin}, // a job runs with the rights of its owner, so an owner cannot give it away

	rota.VerbPutPrincipal:    {rota.Admin, needWrite}, // a user may change its own password, without a token
	rota.VerbDropPrincipal:   {rota.Admin, needAdmin},
	rota.VerbGrantPrivileges: {rota.Admin, needWrite}, // an owner may grant privileges on its definition
	rota.VerbPutToken:        {rota.Admin, needWrite}, // a user may create its own tokens, except for workers; not with a token of scope write
	rota.VerbRevokeToken:     {rota.Admin, needWrite}, // a user may revoke its own tokens; a token of any scope may revoke itself

	rota.VerbPutSecret:        {rota.AlterJob, needWrite},
	rota.VerbDeleteSecret:     {rota.AlterJob, needWrite},
	rota.VerbRewrapSecrets:    {rota.Admin, needInternal},
	rota.VerbPromoteSecretKey: {rota.Admin, needInternal}, // a server rotates for an administrator

	rota.VerbRemember: {"", needSelf},

	rota.VerbReady:        {rota.Admin, needInternal},
	rota.VerbNormalise:    {rota.Admin, needAdmin},
	rota.VerbReap:         {rota.Admin, needInternal},
	rota.VerbRecover:      {rota.Admin, needInternal},
	rota.VerbFire:         {rota.Admin, needInternal},
	rota.VerbReserve:      {rota.Admin, needInternal},
	rota.VerbRelease:      {rota.Admin, needInternal},
	rota.VerbExpire:       {rota.Admin, needInternal},
	rota.VerbSweep:        {rota.Admin, needInternal},
	rota.VerbPrune:        {rota.Admin, needAdmin},
	rota.VerbTouchTokens:  {rota.Admin, needInternal},
	rota.VerbRecordAccess: {rota.Admin, needInternal},
}

// readNeeds has a row for each method of rota.Store that is not Apply. A read with a privilege is refused
// without it; the others are filtered.
var readNeeds = map[string]need{
	"Job": {rota.ViewJobHistory, needRead}, "Jobs": {rota.ViewJobHistory, needRead}, "FindJobs": {rota.ViewJobHistory, needRead},
	"CountJobs": {rota.ViewJobHistory, needRead}, "Queue": {rota.ViewJobHistory, needRead},
	"Execution": {rota.ViewJobHistory, needRead}, "LastAttempt": {rota.ViewJobHistory, needRead},
	"Explain": {rota.ViewJobHistory, needRead}, "Audit": {rota.ViewJobHistory, needRead},

	"Type": {"", needAny}, "Types": {"", needRead}, // names and schemas are no secrets; a worker reads whether its types are declared
	"Template": {"", needRead}, "Templates": {"", needRead}, "Schedule": {"", needRead}, "Schedules": {"", needRead},
	"Group": {rota.ViewJobHistory, needRead}, "Groups": {rota.ViewJobHistory, needRead}, // own groups without it
	"Definition": {"", needRead},

	"Stats":        {rota.ViewJobHistory, needRead}, // on all jobs: it counts all of them
	"Throttle":     {rota.ViewJobHistory, needRead}, // on all jobs
	"Reservations": {rota.ViewJobHistory, needRead}, // own ones without it
	"Webhooks":     {rota.Admin, needRead},          // addresses and their filters

	"Principal": {"", needRead}, "Principals": {"", needRead}, // the user itself and its roles; ADMIN: all
	"AccessToken": {"", needRead}, "AccessTokens": {"", needRead}, // own ones; ADMIN: all
	"AccessState": {"", needRead},
	"Secret":      {"", needRead}, "Secrets": {"", needRead}, // of visible templates, without ciphertext
	"SecretState": {rota.Admin, needAdmin},

	"View": {"", needRead}, "NextDue": {"", needSelf}, "Limits": {"", needSelf}, "Wake": {"", needSelf}, "Watch": {rota.Admin, needAdmin}, "Close": {"", needSelf},
	"DueSchedules": {rota.Admin, needInternal}, "Prunable": {rota.Admin, needInternal}, "Verify": {rota.Admin, needRead},
}
