package storekit

// Lookups returns the queries of this package that a store must be able to answer from an index, by
// name. The tests of a store check how it plans them.
func Lookups() map[string]string {
	return map[string]string{
		"type": Types.ByKey(), "template": Templates.ByKey(), "schedule": Schedules.ByKey(), "group": Groups.ByKey(),
		"reservation": Reservations.ByKey(), "request": Requests.ByKey(), "unique key": UniqueKeys.ByKey(),
		"bucket": Buckets.ByKey(), "dropped schedule": Dropped.ByKey(), "intents": sqlIntents,
		"types": pageByName(Types, notInternalType), "templates": pageByName(Templates, ""), "schedules": sqlSchedules,
		"schedules of a template": sqlSchedulesOf, "reservations": sqlReservations,
		"definition": sqlDefinition, "attempts": sqlAttempts, "job": sqlShownJob, "last attempt": sqlLastAttempt, "execution": sqlExecution,
		"earlier members": sqlEarlier, "dependencies": sqlDependencies,
		"audit": sqlAudit, "audit of a subject": sqlAuditOfSubject, "audit of a schedule": sqlAuditOfSchedule,
		"audit of an execution": sqlAuditOfExecution, "seals of the audit": sqlSeals, "last seal of the audit": sqlAuditHead, "created jobs": sqlCreatedJobs,
		"finished jobs": sqlFinishedJobs, "finished jobs of a schedule": sqlFinishedJobsOf, "chain of a job": sqlChainOf,
		"execution of an attempt": sqlExecutionOf,
		"principal":               Principals.ByKey(), "principals": pageByName(Principals, ""), "user of a certificate": sqlCertificateUser, "definitions of an owner": sqlOwnedDefinitions, "roles": sqlRoles,
		"token": AccessTokens.ByKey(), "tokens": sqlTokens, "tokens of a user": sqlTokensOf, "ended tokens": sqlEndedTokens,
		"secret": Secrets.ByKey(), "secrets": sqlSecrets, "secrets of a template": sqlSecretsOf, "keys of a template's secrets": sqlTemplateSecrets, "any secrets": sqlAnySecrets,
		"prunable oldest": sqlPrunableOldest, "prunable newest": sqlPrunableNewest,
	}
}
