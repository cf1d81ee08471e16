package sqlite

import "github.com/rotajobs/rota"

const sqlDeleteJob = `
DELETE FROM rota_jobs
WHERE id = $1`

// deleteJob deletes a job. A trigger deletes its params.
func (w *writer) deleteJob(j *rota.Job) error { return w.change(sqlDeleteJob, j.ID) }
