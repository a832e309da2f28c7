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
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
)

// downloadStage is what Terraform does with a bundle on disk, and what a problem with it means.
type downloadStage struct {
	onDisk    string // summary of a failure of the file system
	elsewhere string // summary of another failure
	unchanged string // what is on disk, and in the state, after a failure
	runAgain  string // what to do after the cause was removed

	foreign  string // summary of a report about what the resource did not write
	warns    bool   // whether that is a warning
	occupied string // what happens then
	remedy   string // what to do about it; "" to make room
}

const (
	wroteNone        = "This resource wrote no files. If it is being replaced, its old files may already be deleted."
	changedNone      = "This resource changed no files, and its state is unchanged."
	deletedNone      = "No files were deleted, and the state is unchanged."
	stops            = "The apply will stop before this download, unless it first destroys what wrote this."
	stopsReplacement = stops + " " +
		"If this resource is being replaced, its old files may be deleted before that."
	applyAgain = "Then run \"terraform apply\" again."
	sameAgain  = "Then run the same command again."
)

var (
	planCreation   = planDownload(stopsReplacement)
	planUpdate     = planDownload(stops)
	createDownload = downloadStage{
		onDisk: summaryWriteFailed, elsewhere: summaryDownloadFailed, runAgain: applyAgain,
		unchanged: wroteNone, foreign: summaryPathInUse, occupied: wroteNone,
	}
	updateDownload = downloadStage{
		onDisk: summaryWriteFailed, elsewhere: summaryDownloadFailed, runAgain: applyAgain,
		unchanged: changedNone, foreign: summaryPathInUse, occupied: changedNone,
	}
	deleteDownload = downloadStage{
		onDisk: summaryDeleteFailed, elsewhere: summaryDeleteFailed, runAgain: sameAgain,
		unchanged: deletedNone, foreign: summaryForeignFiles, warns: true,
		occupied: "It was not deleted.", remedy: "If nothing needs it, delete it.",
	}
)

func planDownload(occupied string) downloadStage {
	return downloadStage{
		onDisk: summaryInspectFailed, elsewhere: summaryInspectFailed, runAgain: sameAgain,
		foreign: summaryPathInUse, warns: true, occupied: occupied,
	}
}

// mismatchError reports a bundle that is not the expected one.
type mismatchError struct {
	argument   string // that says what is expected: sha256, or job_id for the content of an earlier download
	got, wants string // digests; "" if the file is not an archive
}

func (e *mismatchError) Error() string { return e.got + " instead of " + e.wants }

// report adds the diagnostic of a problem with the bundle of a job, or with the file or directory of that name, unless
// err is nil.
func (s downloadStage) report(diags *diag.Diagnostics, jobID, name string, err error) {
	mismatch, isMismatch := errors.AsType[*mismatchError](err)
	occupied, isOccupied := errors.AsType[*bundle.OccupiedError](err)
	archive, ofArchive := errors.AsType[*bundle.ArchiveError](err)
	left, isLeft := errors.AsType[*bundle.LeftError](err)
	file, ofFile := errors.AsType[*fs.PathError](err)
	rename, ofRename := errors.AsType[*os.LinkError](err)
	switch {
	case err == nil:
	case isMismatch:
		s.reportMismatch(diags, jobID, mismatch)
	case isOccupied:
		s.reportOccupied(diags, occupied)
	case ofArchive:
		s.reportArchive(diags, jobID, archive)
	case isLeft:
		s.reportLeft(diags, name, left)
	case ofFile: // perhaps after attempts at something else
		diags.AddError(s.onDisk, paragraphs(systemReturned(file), s.unchanged, s.adviseOnDisk(name, file)))
	case ofRename:
		diags.AddError(s.onDisk, paragraphs(systemReturned(rename), s.unchanged, s.adviseOnDisk(name, rename)))
	default:
		holds, next := s.unchanged, ""
		if jobID != "" { // else a plan does not know it
			holds = sentences("The job_id is "+jobID+".", holds)
		}
		if client.IsNotFound(err) {
			next = missingBundle
		}
		addError(diags, s.elsewhere, err, holds, next)
	}
}

// reportLeft reports a directory that was not deleted or not put back.
func (s downloadStage) reportLeft(diags *diag.Diagnostics, name string, e *bundle.LeftError) {
	if e.Old {
		next := fmt.Sprintf("The previous files are in %q. Move them back to %q.", e.Path, name)
		diags.AddError(s.onDisk, paragraphs(systemReturned(e), sentences(next, s.runAgain)))
		return
	}
	diags.AddWarning(summaryNotDeleted+": "+e.Path, paragraphs(systemReturned(e),
		"Nothing needs this temporary directory. Delete it."))
}

// reportPathOfDirectory reports the path of a file that ends with a separator.
func reportPathOfDirectory(diags *diag.Diagnostics, name string) {
	diags.AddAttributeError(path.Root("path"), summaryInvalidPath, fmt.Sprintf("%q names a directory. Add a file "+
		"name, such as bundle.tar.gz, or set unpack = true to unpack the bundle into the directory.", name))
}

func systemReturned(err error) string { return "The operating system returned: " + err.Error() + "." }

func (s downloadStage) reportMismatch(diags *diag.Diagnostics, jobID string, e *mismatchError) {
	summary, next := summaryChecksumMismatch, "If the bundle is correct, update or remove sha256."
	what := fmt.Sprintf("The bundle of job %s has the SHA-256 checksum %s, but sha256 is %s.", jobID, e.got, e.wants)
	if e.argument == "job_id" {
		summary = summaryContentChanged
		next = "To accept the new files, run \"terraform apply -replace=ADDRESS\" for this resource."
		what = fmt.Sprintf("The service returned different files for job %s: content_sha256 is %s instead of %s.",
			jobID, cmp.Or(e.got, "null"), cmp.Or(e.wants, "null"))
	}
	diags.AddAttributeError(path.Root(e.argument), summary, paragraphs(what+" "+s.unchanged, next))
}

// reportOccupied reports what the resource did not write.
func (s downloadStage) reportOccupied(diags *diag.Diagnostics, e *bundle.OccupiedError) {
	kinds := map[fs.FileMode]string{0: "the file", fs.ModeDir: "the directory", fs.ModeSymlink: "the symbolic link"}
	what := fmt.Sprintf("This resource has no record of %s %q as it is now. It was changed, or written by an earlier "+
		"resource, an interrupted run, or another program. %s", cmp.Or(kinds[e.Kind], "what is at"), e.Path, s.occupied)
	makeRoom := fmt.Sprintf("If another resource uses %[1]q or a path inside it, use a different path. "+
		"Otherwise, move or delete %[1]q. "+
		"%[2]s", e.Path, s.runAgain)
	detail := paragraphs(what, cmp.Or(s.remedy, makeRoom))
	if s.warns {
		diags.AddAttributeWarning(path.Root("path"), s.foreign+": "+e.Path, detail)
		return
	}
	diags.AddAttributeError(path.Root("path"), s.foreign, detail)
}

// faults says why an archive is not unpacked: because it or one of its entries has the fault.
var faults = map[bundle.Fault]string{
	bundle.NotAnArchive: "is not a tar, gzip-compressed tar, or zip archive",
	bundle.Empty:        "contains no files",
	bundle.TooMany:      fmt.Sprintf("has more than %d,000 files and directories", bundle.MaxEntries/1000),
	bundle.TooLarge:     fmt.Sprintf("unpacks to more than %d GiB", bundle.MaxBytes>>30),
	bundle.NotUTF8:      "has a name that is not UTF-8",
	bundle.UnsafeName: "has an unsafe name: absolute, with .., with a backslash or a control character, or reserved " +
		"by the system",
	bundle.LongName: "has a name that is too long",
	bundle.Duplicate: "has the same path as another entry with other content, perhaps in different case, or is " +
		"inside an entry that is a file",
	bundle.SymbolicLink: "is a symbolic link",
	bundle.HardLink:     "is a hard link",
	bundle.SpecialFile:  "is neither a file nor a directory",
	bundle.Encrypted:    "is encrypted",
	bundle.Compression:  "uses an unsupported compression method",
}

// reportArchive reports an archive that cannot be unpacked. It escapes the name of an entry, and shows at most 100
// characters of it.
func (s downloadStage) reportArchive(diags *diag.Diagnostics, jobID string, e *bundle.ArchiveError) {
	argument, summary, what, next := "unpack", summaryUnpackFailed, "", ""
	switch e.Fault {
	case bundle.Damaged:
		reason := strings.TrimSuffix(e.Err.Error(), ".")
		if e.Entry != "" {
			reason = fmt.Sprintf("%s in the entry %.100q", reason, e.Entry)
		}
		argument = "job_id"
		what = "is damaged: " + reason
		next = "Run \"terraform apply\" again. If the bundle is still damaged, change triggers in the " +
			"docs_static_export resource to export the site again."
	case bundle.Incomplete:
		argument, summary = "job_id", summaryDownloadFailed
		what = "may be incomplete: it came without its length, and it is a tar archive without an end marker"
		next = "Run \"terraform apply\" again. If it fails again, let the proxies between Terraform and the object " +
			"store pass on the Content-Length header."
	default:
		subject := "it"
		if e.Entry != "" {
			subject = fmt.Sprintf("its entry %.100q", e.Entry)
		}
		what = "cannot be unpacked, because " + subject + " " + faults[e.Fault]
		next = "To download it as it is, remove unpack."
	}
	what = fmt.Sprintf("The bundle of job %s %s. %s", jobID, what, s.unchanged)
	diags.AddAttributeError(path.Root(argument), summary, paragraphs(what, next))
}

// adviseOnDisk says what to do about an error of the file system.
func (s downloadStage) adviseOnDisk(name string, err error) string {
	switch {
	case errors.Is(err, syscall.EBUSY):
		return "If path is a mount point, use a subdirectory of it."
	case errors.Is(err, syscall.EXDEV):
		return fmt.Sprintf("The file system cannot rename %q, for example because it is part of a container image. "+
			"Use a different path, or delete the directory. %s", name, s.runAgain)
	}
	return fmt.Sprintf("Make sure that Terraform can read %q and write to the directory that contains it, and that "+
		"the disk has free space. %s", name, s.runAgain)
}
