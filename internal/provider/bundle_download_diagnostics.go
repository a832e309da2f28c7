package provider

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
)

// noFilesChanged says what a failure has changed, but not that of a create: before it, a replacement may have deleted
// the old files.
const noFilesChanged = "This operation changed no files."

// createdBeforeDestroy is said of a create that finds files.
const createdBeforeDestroy = "If this resource or one that depends on it sets create_before_destroy, the old files " +
	"are still there."

// mismatchError reports a bundle that is not the expected one.
type mismatchError struct {
	argument   string // that says what is expected: sha256, or job_id for the content of an earlier download
	got, wants string // digests; "" if the file is not an archive
}

func (e *mismatchError) Error() string { return e.got + " instead of " + e.wants }

// diagnosis is what a diagnostic about a download says. argument is the one at fault, or "".
type diagnosis struct{ argument, summary, what, next string }

// reportDownload reports why the bundle of a job was not inspected, downloaded, or deleted, unless err is nil, and what
// that leaves unchanged, which is "" for a create.
func reportDownload(diags *diag.Diagnostics, summary, jobID, unchanged string, err error) {
	if err == nil {
		return
	}
	var (
		mismatch *mismatchError
		occupied *bundle.OccupiedError
		archive  *bundle.ArchiveError
		file     *fs.PathError
		rename   *os.LinkError
		d        diagnosis
	)
	switch {
	case errors.As(err, &mismatch):
		d = diagnoseMismatch(jobID, mismatch)
	case errors.As(err, &occupied):
		d, unchanged = diagnosePath(occupied), cmp.Or(unchanged, createdBeforeDestroy)
	case errors.As(err, &archive):
		d = diagnoseArchive(jobID, archive)
	case errors.As(err, &file): // perhaps after attempts at something else
		d = diagnosis{"", summary, systemReturned(file), adviseOnDisk(file)}
	case errors.As(err, &rename): // the first one; what could not be put back is another diagnostic
		d, unchanged = diagnosis{"", summary, systemReturned(rename), adviseOnDisk(rename)}, ""
	default:
		if jobID != "" { // else a plan does not know it
			unchanged = sentences("Job: "+jobID+".", unchanged)
		}
		addBundleError(diags, summary, err, unchanged)
		return
	}
	detail := paragraphs(sentences(d.what, unchanged), d.next)
	if d.argument == "" {
		diags.AddError(d.summary, detail)
	} else {
		diags.AddAttributeError(path.Root(d.argument), d.summary, detail)
	}
}

func diagnosePath(e *bundle.OccupiedError) diagnosis {
	undo := ""
	if e.Latest != "" {
		undo = "undo the change, or "
	}
	return diagnosis{"path", summaryPathInUse, describeOccupied(e), fmt.Sprintf("If something else uses this path, "+
		"choose another path. Otherwise, %smake sure that nothing is at %q, and run \"terraform apply\" again.",
		undo, e.Path)}
}

// describeOccupied describes what the resource did not write.
func describeOccupied(e *bundle.OccupiedError) string {
	what := fmt.Sprintf("There is no record that this resource wrote what was at %q, or it was changed later.", e.Path)
	return sentences(what, describeLatest(e))
}

func describeLatest(e *bundle.OccupiedError) string {
	switch {
	case e.Err != nil:
		return systemReturned(e.Err)
	case e.Latest == "":
		return ""
	}
	return fmt.Sprintf("The last change was at %q.", e.Latest)
}

// warnPathInUse reports what a plan has found. Terraform prints it again at the end of the apply, and the plan of a
// tainted resource, or of one whose path becomes absolute, does not know what that wrote.
func warnPathInUse(diags *diag.Diagnostics, e *bundle.OccupiedError) {
	diags.AddAttributeWarning(path.Root("path"), summaryPathInUse+": "+e.Path, paragraphs(
		sentences(fmt.Sprintf("Something was at %q during the plan.", e.Path), describeLatest(e)),
		"If it is still there, and there is no record that this resource wrote it, the apply stops: see "+
			errorsPage+"#unexpected-files-at-the-bundles-path."))
}

// warnNotDeleted reports what a destroy has left.
func warnNotDeleted(diags *diag.Diagnostics, e *bundle.OccupiedError) {
	diags.AddWarning(summaryNotDeleted+": "+e.Path, paragraphs(
		describeOccupied(e), "If nothing needs it, delete it."))
}

// warnLeft reports a temporary directory that was not deleted, if err says so.
func warnLeft(diags *diag.Diagnostics, err error) bool {
	left, ok := errors.AsType[*bundle.LeftError](err)
	if !ok {
		return false
	}
	what := systemReturned(left.Err)
	switch {
	case errors.Is(left.Err, fs.ErrExist): // it is not empty
		what = "This temporary directory contains only files that changed while Terraform replaced or deleted them, " +
			"or that could not be put back."
	case interrupted(left.Err), timedOut(left.Err):
		what = sentences(explain(left.Err).what, "This temporary directory still contains old files.")
	}
	diags.AddWarning(summaryNotDeleted+": "+left.Path, paragraphs(
		what, "Save what you need, and delete the directory."))
	return true
}

// reportPathOfDirectory reports the path of a file that ends with a separator.
func reportPathOfDirectory(diags *diag.Diagnostics, name string) {
	diags.AddAttributeError(path.Root("path"), summaryInvalidPath, fmt.Sprintf("%q names a directory. Add a file "+
		"name, such as bundle.tar.gz, or set unpack = true to unpack the bundle into the directory.", name))
}

func diagnoseMismatch(jobID string, e *mismatchError) diagnosis {
	if e.argument == "job_id" {
		return diagnosis{
			e.argument, summaryContentChanged,
			fmt.Sprintf("The service returned different files for job %s: content_sha256 is %s instead of %s.",
				jobID, cmp.Or(e.got, "null"), cmp.Or(e.wants, "null")),
			"To accept the new files, run \"terraform apply -replace=ADDRESS\" for this resource.",
		}
	}
	return diagnosis{
		e.argument, summaryChecksumMismatch,
		fmt.Sprintf("The bundle of job %s has the SHA-256 checksum %s, but sha256 is %s.", jobID, e.got, e.wants),
		"If the bundle is correct, update or remove sha256.",
	}
}

// faults says why an archive is not unpacked: because it or one of its entries has the fault.
var faults = map[bundle.Fault]string{
	bundle.NotAnArchive: "is not a tar, gzip-compressed tar, or zip archive that the provider can read",
	bundle.Empty:        "contains no files",
	bundle.TooMany:      "has more than 100,000 files and directories, or very long names",
	bundle.TooLarge:     "unpacks to more than 4 GiB",
	bundle.UnsafeName: "has an unsafe name: absolute, with .., with a backslash or a control character, reserved by " +
		"the system, not in UTF-8, or too long",
	bundle.Duplicate: "has the same path as another entry with other content, perhaps in different case, or is " +
		"inside an entry that is a file",
	bundle.SpecialFile: "is a link, a device, or another special file",
	bundle.Unsupported: "is encrypted, or compressed by a method other than Deflate",
}

// diagnoseArchive escapes the name of an entry, and shows at most 100 characters of it.
func diagnoseArchive(jobID string, e *bundle.ArchiveError) diagnosis {
	if e.Fault == bundle.Damaged {
		return diagnosis{
			"job_id", summaryDamaged,
			fmt.Sprintf("The bundle of job %s is damaged: %s.", jobID, strings.TrimSuffix(e.Err.Error(), ".")),
			"Run \"terraform apply\" again. If the bundle is still damaged, change triggers in the " +
				"docs_static_export resource to export the site again.",
		}
	}
	subject := "it"
	if e.Entry != "" {
		subject = fmt.Sprintf("its entry %.100q", e.Entry)
	}
	return diagnosis{
		"unpack", summaryUnpackFailed,
		fmt.Sprintf("The bundle of job %s cannot be unpacked, because %s %s.", jobID, subject, faults[e.Fault]),
		"To download it as it is, remove unpack.",
	}
}

// systemReturned quotes an error of the system, in which the names of files may have any bytes.
func systemReturned(err error) string { return fmt.Sprintf("The operating system returned: %q.", err) }

// diskAdvice is in the order in which it is tried.
var diskAdvice = []struct {
	err    error
	advice string
}{
	{syscall.ENOSPC, "Free space on the disk that contains path."},
	{syscall.EROFS, "Make the file system that contains path writable."},
	{fs.ErrPermission, "Give the user that runs Terraform permission to read and write what is at path, " +
		"and to write to the directory that contains it."},
	{fs.ErrNotExist, "Make sure that the directory that contains path exists, and that nothing else deletes it."},
	{syscall.EBUSY, "The path is in use, for example as a mount point. Unmount it. " +
		"With unpack, a new resource can use a directory inside the mount."},
	{syscall.EXDEV, cannotRename},
	{syscall.ENOSYS, cannotRename},
	{syscall.ENOTEMPTY, cannotRename}, // although nothing is there
}

const cannotRename = "The file system cannot rename a directory, for example in a mounted bucket or a container " +
	"image. Choose another path for a new resource. In a container image, you can delete the directory instead."

// adviseOnDisk returns what to do about an error of the file system.
func adviseOnDisk(err error) string {
	for _, known := range diskAdvice {
		if errors.Is(err, known.err) {
			return known.advice
		}
	}
	return "Correct the cause, or choose another path."
}
