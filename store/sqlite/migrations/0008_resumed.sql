-- When the last pause of a schedule ended. Times that were due before were missed.
ALTER TABLE rota_schedules ADD COLUMN resumed_at INTEGER;
-- When a user last triggered the schedule.
ALTER TABLE rota_schedules ADD COLUMN triggered_at INTEGER;
