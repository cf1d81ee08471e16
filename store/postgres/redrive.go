package postgres

// sqlRedrives finds the newest redrive of an execution.
const sqlRedrives = `
SELECT id
FROM rota_jobs
WHERE redrive_of = $1
ORDER BY id DESC
LIMIT 1`
