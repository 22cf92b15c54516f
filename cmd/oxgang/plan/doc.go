// Package study holds the commands that study: case studies, linear programs, profiles and plans of spending.
package study
