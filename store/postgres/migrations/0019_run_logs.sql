-- The logs of runs, in chunks, so that every process can read them. The client compresses the text, so
-- PostgreSQL must not try again. This migration locks no other table.
CREATE TABLE rota_log_chunks (
  job_id      uuid NOT NULL,
  byte_offset bigint NOT NULL, -- of the first byte in the log
  length      integer NOT NULL, -- of the text, in bytes
  deflated    boolean NOT NULL, -- data is compressed with DEFLATE
  started_at  bigint NOT NULL, -- of the run
  data        bytea NOT NULL,
  PRIMARY KEY (job_id, byte_offset),
  CONSTRAINT log_chunks_span CHECK (byte_offset >= 0 AND length > 0)
);

ALTER TABLE rota_log_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE INDEX log_chunks_started ON rota_log_chunks (started_at);
