// Package copter solves linear programs.
package copter
