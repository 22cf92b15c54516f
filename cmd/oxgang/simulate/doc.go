// Package simulate holds the commands that simulate, explain, replay and report.
package simulate
