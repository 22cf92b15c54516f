// Package execute derives the next steps of jobs from an observation and the committed plan, and carries them out.
package execute
